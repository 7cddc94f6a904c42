"""What is made of the numbers: tables for the terminal, and a picture."""
