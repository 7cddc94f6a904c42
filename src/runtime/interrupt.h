#pragma once

namespace synthesizer {

/// Long work calls this now and then, from whichever thread it runs in: where somebody wants it to end, it
/// throws. Costs next to nothing: what was set by set_interrupt_check is called at most every 50 ms a thread.
void check_interrupt();

/// What check_interrupt() asks; by default nothing, as a signal ends a program by itself. Python, whose
/// signals wait for the interpreter, sets one that throws KeyboardInterrupt. Comes before any work.
void set_interrupt_check(void (*check)());

}  // namespace synthesizer
