"""The Python half of the runner: what stands between the engine's frames and a user's Python source.

Theory of operation. An interpreter of the user's choice runs `zygote`: it imports torch (and triton and numpy
where they are), makes no thread, initialises no CUDA, and waits. For every kernel of a job the engine asks for a
fork; the new process puts itself under confinement (../entry.cc, the same code as every runner's) before it reads
a byte of the user's, and then runs `worker`: one source, one channel, until the engine is done with it.

Nothing here is trusted. The process holds the user's code, so all it says are claims:
  * inputs arrive and outputs leave as bytes in memory the engine made; a trusted process elsewhere fills it before
    and judges it afterwards, and the reference runs in a process of its own, so no expected value is ever here;
  * no clock is read here: the engine times from outside, over N and over 2N calls, on contents that come with the
    very request and are fresh each time;
  * what `watch` says about patched functions can only speak against the user's code, never for it.
What the user prints goes to a pipe that the engine keeps the end of and never parses.

These files are embedded in the engine and handed to the interpreter in memory: nothing is installed.
"""
