// Kernels that fake_timing_runner.cc plays: which, the size of their arenas says. Those that are
// compiled as idling are another program (fake_idling_runner), the rest of both is alike.
#pragma once

#include <cstdint>

namespace assay::fake_kernels {

// 80 us on fresh tensors, 1 us on those that a launch has left.
inline constexpr std::uint64_t kLeaningBytes = 8192;
// 200 us, or twice that every other time: half its runs more do not settle what its median is.
inline constexpr std::uint64_t kRestlessBytes = 12'288;
// 10 us by its events, 40 by the host's clock.
inline constexpr std::uint64_t kHidingBytes = 16'384;
// 1 us, on its third contents 28; a graph has a third of each.
inline constexpr std::uint64_t kSeldomSlowBytes = 163'840;
// 10 us by any clock, on a device that idled, where another process works.
inline constexpr std::uint64_t kIdleBytes = 20'480;
// 5 us, and 80 us on contents that it was not shown since its module was loaded.
inline constexpr std::uint64_t kRememberingBytes = 24'576;
// The time of a run tells where it worked, on what, and whether it was kept.
inline constexpr std::uint64_t kTellingBytes = 28'672;
// And of these when it was, in milliseconds for nanoseconds.
inline constexpr std::uint64_t kClockBytes = 32'768;
// 300 us, however it is launched.
inline constexpr std::uint64_t kLongBytes = 36'864;
// By what it works on: 20 us, or 200 us on other contents; a graph has a third of each.
inline constexpr std::uint64_t kUnevenBytes = 40'960;
// 20 ms, warmups too.
inline constexpr std::uint64_t kSlowBytes = 45'056;
// 50 us; compiled as a kernel that idles where it is launched again at once, a tenth of it there.
inline constexpr std::uint64_t kIdlingBytes = 49'152;
// 3 us; compiled as that kernel it spins in the first launch of the shorter graph of both.
inline constexpr std::uint64_t kSpinningBytes = 167'936;
// 5 us, 3 in a graph; compiled as that kernel 80 ns less, and in a graph 1.1 us.
inline constexpr std::uint64_t kBarelyLeaningBytes = 172'032;
// 10 us, 8 in a graph; compiled as that kernel 1.2 us less, and twice that in a graph: of the first
// where launches have their contents anew as well.
inline constexpr std::uint64_t kTwiceSavingBytes = 176'128;
inline constexpr std::uint64_t kOnlyAloneSavingBytes = 180'224;
// 12 us, 10 in a graph; compiled as that kernel half of it, and in a graph a quarter of it, unless
// contents are put anew.
inline constexpr std::uint64_t kDoublySavingBytes = 184'320;
// 50 us; compiled as that kernel 45 us, and a tenth of it in two graphs of five.
inline constexpr std::uint64_t kSometimesIdlingBytes = 151'552;
// 5 us, and 7 on contents that it was not shown since its module was loaded, give or take 1 us.
inline constexpr std::uint64_t kSlightlyRememberingBytes = 53'248;
// The same scatter, and no memory: 5 us, of which a first look may make 6.
inline constexpr std::uint64_t kScatteringBytes = 57'344;
// 5 us, and 80 us on contents that its process never saw, whatever is loaded anew.
inline constexpr std::uint64_t kHeapBytes = 61'440;
// 3 us in a graph whose launches have their contents anew, 1.6 us on what a launch has left;
// compiled as a kernel that idles, 1.2 us there.
inline constexpr std::uint64_t kSlightlyLeaningBytes = 65'536;
// 3 us in a graph, however; compiled as the one that idles, 2.6 us.
inline constexpr std::uint64_t kSlightlyFasterBytes = 69'632;
// 5 us; its host is late in the first question of each kind, and all there takes 80.
inline constexpr std::uint64_t kDisturbedBytes = 73'728;
// The same of a host that is late in the first three.
inline constexpr std::uint64_t kDisturbedLongBytes = 155'648;
// 5 us on one of its contents, on all others 80; shown anew, it has room for those of a turn.
inline constexpr std::uint64_t kCrampedBytes = 77'824;
// 5 us on one of its contents, on all others 80, whenever they are shown.
inline constexpr std::uint64_t kChoosyBytes = 81'920;
// 80 us on contents that are new; on those that it keeps it finds them two times of five: 5 us.
inline constexpr std::uint64_t kForgetfulBytes = 86'016;
// 80 us, two times of five 5 us, whatever it works on.
inline constexpr std::uint64_t kFickleBytes = 90'112;
// 80 us; from the fortieth launch of its module on 5 us on content 0, and two times of five on
// others.
inline constexpr std::uint64_t kPatientBytes = 94'208;
// 5.5 us; from the ninth launch of its module on 3.3 us on contents that it was shown since.
inline constexpr std::uint64_t kBrieflyPatientBytes = 159'744;
// 80 us; from the seventieth launch of its module on 5 us, whatever it works on.
inline constexpr std::uint64_t kRipeningBytes = 126'976;
// 12.5 us, one time of five 10 us: too little apart to be results that were kept.
inline constexpr std::uint64_t kUnsteadyBytes = 98'304;
// 5 us on its third contents, which it keeps, on others and on new ones 80.
inline constexpr std::uint64_t kKeepsThirdBytes = 102'400;
// 80 us cold, 1 us in the one graph that is captured of it; the next cannot be.
inline constexpr std::uint64_t kCapturedOnceBytes = 106'496;
// 80 us, and 5 us once it was asked what contents cost that it was not shown before.
inline constexpr std::uint64_t kAskedBytes = 110'592;
// 80 to 120 us, another time in each turn; compiled as the one that idles, others than else.
inline constexpr std::uint64_t kWanderingBytes = 114'688;
// 80 us launched alone, whatever it finds there, and 1 us in a graph.
inline constexpr std::uint64_t kCapriciousBytes = 122'880;
// 5 us, and 80 us from when it was asked that on, whatever it works on.
inline constexpr std::uint64_t kWearyBytes = 118'784;
// The next tell what a run has left, by a word of its contents. Times as of kUnsteadyBytes, and
// always the same bits.
inline constexpr std::uint64_t kUnsteadyAlikeBytes = 131'072;
// One time of five nothing but what it began with, unless it is looked at.
inline constexpr std::uint64_t kSkippingBytes = 135'168;
// One time of five something else, and in half the time, unless it is looked at.
inline constexpr std::uint64_t kSkimpingBytes = 139'264;
// One time of twelve something else.
inline constexpr std::uint64_t kSeldomOtherwiseBytes = 147'456;
// 2 ms by its events, and 6 by any other clock, but for warmups.
inline constexpr std::uint64_t kUntruthfulBytes = 188'416;
// 10 us; compiled as the one that idles it can be captured, and else not.
inline constexpr std::uint64_t kHalfCapturableBytes = 192'512;
// Each time something else.
inline constexpr std::uint64_t kRacingBytes = 143'360;

}  // namespace assay::fake_kernels
