"""What is compared: settings, ours and the peers in each of them, and the targets."""
