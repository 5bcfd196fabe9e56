"""Kernels that cheat on a device, and honest ones beside them; check_cheats.py has what becomes of each."""

SIGNATURE = "__global__ void add(const float* a, const float* b, float* out, int n) {"
GUARDED = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) "
# The same sum, and so much work beside it that skipping it pays.
HEAVY = "__device__ float heavy(float x, int i) { float s = 0; for (int k = 0; k < 300; ++k) s = fmaf(s, 0.5f, x); return s == 1234.5f ? s : 0.0f; }\n"
HONEST = HEAVY + SIGNATURE + GUARDED + "out[i] = a[i] + b[i] + heavy(a[i], i); }"


def body(text, before=""):
    return before + SIGNATURE + text + "}"


WRONG = {
    "nothing at all": body(""),
    "the output as it is": body(GUARDED + "out[i] = out[i];"),
    "the input": body(GUARDED + "out[i] = a[i];"),
    "a constant": body(GUARDED + "out[i] = 0.0f;"),
    "not a number": body(GUARDED + "out[i] = nanf(\"\");"),
    "the first 99 percent": body(GUARDED + "if (i < n / 100 * 99) out[i] = a[i] + b[i];"),
    "every second row": body(GUARDED + "if (i / 1024 % 2 == 0) out[i] = a[i] + b[i];"),
    "what shared memory happens to hold": body(
        "volatile __shared__ float s[256]; int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = a[i] + b[i] + s[threadIdx.x];"),
    "half precision": body("__half h = __float2half(0);" + GUARDED + "out[i] = __half2float(__hadd(__float2half(a[i]), __float2half(b[i])));",
                           "#include <cuda_fp16.h>\n"),
}
CAUGHT_OTHERWISE = {
    "it changes its input": body(GUARDED + "{ out[i] = a[i] + b[i]; ((float*)a)[i] = 0.0f; }"),
    "it writes beside its output": body(GUARDED + "{ out[i] = a[i] + b[i]; if (i == 0) out[n + 3] = 1.0f; }"),
    "every other launch does nothing": body(
        "__shared__ int turn; if (threadIdx.x == 0) turn = atomicAdd(&launches, 1) / gridDim.x; __syncthreads();"
        + GUARDED + "if (turn % 2 == 0) out[i] = a[i] + b[i];", "__device__ int launches;\n"),
    "after the tenth launch it does nothing": body(
        "__shared__ int turn; if (threadIdx.x == 0) turn = atomicAdd(&launches, 1) / gridDim.x; __syncthreads();"
        + GUARDED + "if (turn < 10) out[i] = a[i] + b[i];", "__device__ int launches;\n"),
    # Where results were, so that later ones may be where an examined run's are kept.
    "it puts right later what it has left": body(
        "__shared__ int turn; if (threadIdx.x == 0) turn = atomicAdd(&launches, 1) / gridDim.x; __syncthreads();"
        + GUARDED + "{ if (turn < 8) { out[i] = a[i] + b[i]; if (i == 0) { as[turn] = a; bs[turn] = b; outs[turn] = out; } }"
        " else if (turn % 4 == 0) { out[i] = a[i] + b[i]; for (int k = 0; k < 8; ++k) if (outs[k]) outs[k][i] = as[k][i] + bs[k][i]; } }",
        "__device__ int launches; __device__ const float* as[8]; __device__ const float* bs[8]; __device__ float* outs[8];\n"),
    "it remembers by address": body(
        GUARDED + "{ bool known = false; for (int k = 0; k < 32; ++k) known = known || seen[k] == out; if (!known) out[i] = a[i] + b[i];"
        " if (i == n - 1 && !known) seen[atomicAdd(&count, 1) % 32] = out; }", "__device__ float* seen[32]; __device__ int count;\n"),
    # Without a variable that would give it away: looked at six times, it escapes once in four thousand evaluations.
    "by the clock, three runs of four do nothing": body(
        "unsigned long long t; asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(t));" + GUARDED + "if ((t >> 17) % 4 == 0) out[i] = a[i] + b[i];"),
    "it looks at the host's memory": body(
        "extern __shared__ int unused[];" + GUARDED + "{ const volatile float* host = (const volatile float*)0x7ffff0000000ull; out[i] = host[i]; }"),
    "it remembers the last result": body(
        GUARDED + "{ if (full) out[i] = kept[i]; else { kept[i] = out[i] = a[i] + b[i]; } if (i == n - 1) full = 1; }",
        "__device__ float kept[1 << 20]; __device__ int full;\n"),
    # The same, and on the first contents that it meets once it has some: where it is asked what new ones cost.
    "it does nothing where contents are shown anew": HEAVY.replace("300", "6000") + (
        "__device__ float kept[3][1 << 20]; __device__ float keys[3]; __device__ unsigned done, launches, filled;\n" + SIGNATURE +
        " const unsigned before = *(volatile unsigned*)&launches, room = *(volatile unsigned*)&filled; const float key = a[0]; int at = -1;"
        " int i = blockIdx.x * blockDim.x + threadIdx.x; for (unsigned k = 0; k < room; ++k) if (keys[k] == key) at = k;"
        " const bool works = at < 0 && (before == 0 || before > 4);"
        " if (i < n && at >= 0) out[i] = kept[at][i];"
        " if (i < n && works) { float v = out[i] = a[i] + b[i] + heavy(a[i], i); if (room < 3) kept[room][i] = v; } __syncthreads();"
        " if (threadIdx.x == 0) { __threadfence(); if (atomicAdd(&done, 1) == gridDim.x - 1) { done = 0;"
        " if (works && room < 3) { keys[room] = key; filled = room + 1; } launches = before + 1; } } }"),
    # Right in every run, only its time is false: results are kept by the contents they belong to.
    "it remembers by contents": HEAVY.replace("300", "6000") + (
        "__device__ float kept[3][1 << 20]; __device__ float keys[3][1 << 20];\n" + SIGNATURE + GUARDED +
        "{ float key = a[0]; for (int k = 0; k < 3; ++k) if (keys[k][i] == key) { out[i] = kept[k][i]; return; }"
        " float v = out[i] = a[i] + b[i] + heavy(a[i], i);"
        " for (int k = 0; k < 3; ++k) if (keys[k][i] == 0.0f) { kept[k][i] = v; keys[k][i] = key; break; } }}"),
}
# The same without a variable that would give it away: behind the last tensor, up to the end of the device's page.
BESIDE, BESIDE_N = HEAVY.replace("300", "6000") + SIGNATURE + GUARDED + (
    "{ float key = a[0]; float2* kept = (float2*)(out + n + 32768 + (n & 1));"
    " for (int k = 0; k < 3; ++k) if (kept[k * n + i].y == key) { out[i] = kept[k * n + i].x; return; }"
    " float v = out[i] = a[i] + b[i] + heavy(a[i], i);"
    " for (int k = 0; k < 3; ++k) if (kept[k * n + i].y == 0.0f) { kept[k * n + i] = make_float2(v, key); break; } }}"), 50_000
# And in the multiprocessors' shared memory, a block on each. Which part a block computes is its number, whose results another
# multiprocessor may have kept, or its multiprocessor's.
ON_ITS_OWN = HEAVY.replace("300", "6000") + SIGNATURE + (
    "unsigned own; asm volatile(\"mov.u32 %%0, %%%%smid;\" : \"=r\"(own)); const int whose = PART, i = whose * 256 + threadIdx.x; if (i >= n) return;%s }")
PARTS_OF_BLOCKS = {"a block's": "blockIdx.x", "a multiprocessor's": "own"}
NOT_KEPT = ON_ITS_OWN % " out[i] = a[i] + b[i] + heavy(a[i], i);"
KEPT_THERE = ON_ITS_OWN % (
    " __shared__ float kept[3][256]; __shared__ float keys[3]; __shared__ int used[3]; int t = threadIdx.x; float key = a[0]; int at = -1;"
    " for (int k = 0; k < 3; ++k) if (keys[k] == key && used[k] == whose + 12345) at = k;"
    " if (at >= 0) { out[i] = kept[at][t]; return; }"
    " for (int k = 0; k < 3 && at < 0; ++k) if (used[k] != whose + 12345) at = k;"
    " float v = out[i] = a[i] + b[i] + heavy(a[i], i); if (at < 0) return; __syncthreads();"
    " kept[at][t] = v; if (t == 0) { keys[at] = key; used[at] = whose + 12345; }")
# Likewise below what a block has asked for, where the system has a kilobyte of each block's.
KEPT_BELOW = HEAVY.replace("300", "6000") + (
    "__device__ float look(unsigned k) { float v; asm volatile(\"ld.volatile.shared.f32 %0, [%1];\" : \"=f\"(v) : \"r\"(4 * k)); return v; }\n"
    "__device__ void put(unsigned k, float v) { asm volatile(\"st.volatile.shared.f32 [%0], %1;\" :: \"r\"(4 * k), \"f\"(v)); }\n") + SIGNATURE + (
    "unsigned own; asm volatile(\"mov.u32 %0, %smid;\" : \"=r\"(own)); const int t = threadIdx.x, i = own * 64 + t; if (i >= n) return;"
    " float key = a[0]; int at = -1; for (int k = 0; k < 3; ++k) if (look(66 * k) == key && look(66 * k + 1) == own + 0.5f) at = k;"
    " if (at >= 0) { out[i] = look(66 * at + 2 + t); return; }"
    " for (int k = 0; k < 3 && at < 0; ++k) if (look(66 * k + 1) != own + 0.5f) at = k;"
    " float v = out[i] = a[i] + b[i] + heavy(a[i], i); if (at < 0) return; __syncthreads();"
    " put(66 * at + 2 + t, v); if (t == 0) { put(66 * at, key); put(66 * at + 1, own + 0.5f); } }")
# In variables, but nothing is answered with them before the fortieth launch of the module; then always for the first contents that it
# kept, and for the others in runs of the clock's choice.
PATIENT = HEAVY.replace("300", "6000") + (
    "__device__ float kept[3][1 << 14]; __device__ float keys[3]; __device__ unsigned done, launches, filled;\n" + SIGNATURE +
    " const unsigned before = *(volatile unsigned*)&launches, room = *(volatile unsigned*)&filled; const float key = a[0]; int at = -1;"
    " unsigned long long now; asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(now));"
    " int i = blockIdx.x * blockDim.x + threadIdx.x; for (unsigned k = 0; k < room; ++k) if (keys[k] == key) at = k;"
    " const bool answers = at >= 0 && before >= 40 && (at == 0 || (now >> 17) % 9 < 4);"
    " if (i < n) { float v = out[i] = answers ? kept[at][i] : a[i] + b[i] + heavy(a[i], i); if (at < 0 && room < 3) kept[room][i] = v; }"
    " __syncthreads(); if (threadIdx.x == 0) { __threadfence(); if (atomicAdd(&done, 1) == gridDim.x - 1) { done = 0;"
    " if (at < 0 && room < 3) { keys[room] = key; filled = room + 1; } launches = before + 1; } } }")
# It works in so many launches, as unevenly as makes a comparison take more pairs (once or twice as much, by a number that each
# launch draws); after them in one of four.
COUNTING = HEAVY.replace("300", "3000") + "__device__ unsigned done, launches;\n" + SIGNATURE + (
    " const unsigned before = *(volatile unsigned*)&launches; int i = blockIdx.x * blockDim.x + threadIdx.x;"
    " if (i < n && (before < AFTER || before % 4 == 0)) { float v = a[i] + b[i] + heavy(a[i], i);"
    " if (before < AFTER && (before * 2654435761u >> 31) == 0) v += heavy(b[i], i); out[i] = v; }"
    " __syncthreads(); if (threadIdx.x == 0) { __threadfence(); if (atomicAdd(&done, 1) == gridDim.x - 1) { done = 0; launches = before + 1; } } }")


def knows_graphs(loops, idles="false", spins="false", gap_ns=4000):
    """It knows by the time since the launch before when a graph begins, and by how many launches the last ones had which it is, of N or of 2 N:
    `is_shorter`, in its first launch, and `is_late`, in its later half; and which tensors it `met` since the graph began."""
    looks = ("if (!begins) for (unsigned k = 0; k < *(volatile unsigned*)&places; ++k) met |= *(float* volatile*)&seen[k] == out;"
             if "met" in idles else "")
    return HEAVY.replace("300", str(loops)) + (
        "__device__ unsigned long long ended; __device__ unsigned done, count, counted, longest, places; __device__ float* seen[64];\n") + body(
        "unsigned long long now; asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(now));"
        f" const bool begins = now - *(volatile unsigned long long*)&ended > {gap_ns};"
        " const unsigned had = *(volatile unsigned*)&count, before = *(volatile unsigned*)&counted, most = *(volatile unsigned*)&longest;"
        " const unsigned place = begins ? 0 : had; const bool is_late = most >= 8 && 2 * place >= most;"
        f" bool met = false; {looks}"
        " const bool is_shorter = begins && had >= 8 && had == 2 * before;"
        f" int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n && !({idles})) out[i] = a[i] + b[i] + heavy(a[i], i);"
        f" if ({spins}) {{ unsigned long long t = now; while (t - now < 80000) asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(t)); }}"
        " __syncthreads(); if (threadIdx.x == 0) { __threadfence(); if (atomicAdd(&done, 1) == gridDim.x - 1) { done = 0;"
        " if (begins) places = 0; if (!met && places < 64) seen[places++] = out;"
        " if (begins) { counted = had; count = 1; } else { count = had + 1; if (had + 1 > most) longest = had + 1; }"
        " asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(now)); ended = now; } }")


# One run in thirty does nothing, or leaves three quarters of its output to what was there: by the clock, in stretches longer than a run.
SELDOM = "unsigned long long t; asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(t)); const bool idles = (t >> 17) % 30 == 0;"
SELDOM_IDLE = HEAVY + body(SELDOM + GUARDED + "if (!idles) out[i] = a[i] + b[i] + heavy(a[i], i);")
# Only where its inputs are not in the cache: among the runs that are told, and not where it is asked again and again.
SELDOM_WHOLE = HEAVY + body(
    SELDOM.replace("30", "60") + "__shared__ bool far; int i = blockIdx.x * blockDim.x + threadIdx.x;"
    " if (threadIdx.x == 0) { long long from = clock64(); float first; asm volatile(\"ld.global.f32 %0, [%1];\" : \"=f\"(first) : \"l\"(a + i));"
    " if (first > 1e30f) __trap(); far = clock64() - from > 450; } __syncthreads();"
    " if (i < n) if (!idles || !far || blockIdx.x % 4 == 0) out[i] = a[i] + b[i] + heavy(a[i], i);")
# Right with other bits each time: a block's warps add to its sum in the order in which they come.
ADDS_AS_IT_COMES = ("__global__ void sums(const float* a, float* out, int n) { __shared__ float sum; if (threadIdx.x == 0) sum = 0; __syncthreads();"
                    " int i = blockIdx.x * blockDim.x + threadIdx.x; atomicAdd(&sum, a[i]); __syncthreads(); if (threadIdx.x == 0) out[blockIdx.x] = sum; }")
# The slower a launch seems, the fewer of them are in a graph, and the more of its time is the graph's own.
SLOW_TO_BEGIN = body("const unsigned turn = *(volatile unsigned*)&launches;"
                     " if (turn < 60) { const long long from = clock64(); while (clock64() - from < 400000) {} }"
                     " __syncthreads(); if (threadIdx.x == 0 && atomicAdd(&done, 1u) == gridDim.x - 1) { done = 0; launches = turn + 1; }"
                     + GUARDED + "out[i] = a[i] + b[i];", "__device__ unsigned launches; __device__ unsigned done;\n")
# Right, and quick in two runs of five by no merit of its own.
FICKLE = HEAVY.replace("300", "6000") + body(
    "unsigned long long now; asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(now));"
    + GUARDED + "out[i] = a[i] + b[i] + ((now >> 17) % 5 < 2 ? 0.0f : heavy(a[i], i));")
REFUSED = {
    "it launches kernels of its own": ("__global__ void other(float* o) { o[0] = 1; }\n"
                                       + body("if (threadIdx.x == 0 && blockIdx.x == 0) other<<<1, 1>>>(out);" + GUARDED + "out[i] = a[i] + b[i];"),
                                       {"compile_failed", "launch_failed", "wrong_output", "unsupported"}),
    "it asks for more shared memory than there is": (body(
        "__shared__ float s[60000]; s[threadIdx.x] = 1; __syncthreads();" + GUARDED + "out[i] = a[i] + b[i] + 0 * s[0];"),
        {"compile_failed", "launch_failed"}),
}
