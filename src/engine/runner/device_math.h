// What <cmath>, std::swap and std::exchange give device code under nvcc and NVRTC lacks: offered to
// NVRTC as the header `assay/cmath`, which sources that use it include ahead
// (engine/source/substitutes.h). float stays float, integers and mixtures are double, as the
// standard has it.
#pragma once

namespace assay::runner {

constexpr const char* kDeviceMathName = "assay/cmath";
constexpr const char* kDeviceMath = R"cuda(
#pragma once
namespace assay { namespace std {
namespace of {
template <class T> struct Integer {};
#define ASSAY_INTEGER(type) template <> struct Integer<type> { using real = double; };
ASSAY_INTEGER(bool) ASSAY_INTEGER(char) ASSAY_INTEGER(signed char) ASSAY_INTEGER(unsigned char)
ASSAY_INTEGER(short) ASSAY_INTEGER(unsigned short) ASSAY_INTEGER(int) ASSAY_INTEGER(unsigned)
ASSAY_INTEGER(long) ASSAY_INTEGER(unsigned long) ASSAY_INTEGER(long long)
ASSAY_INTEGER(unsigned long long)
#undef ASSAY_INTEGER
template <class T> struct Real : Integer<T> {};
template <> struct Real<float> { using real = double; };
template <> struct Real<double> { using real = double; };
}  // namespace of
#define ASSAY_CALL __host__ __device__ __forceinline__
#define ASSAY_ONE(name, for_float, for_double)                                          \
  ASSAY_CALL for_float name(float x) { return ::name(x); }                              \
  ASSAY_CALL for_double name(double x) { return ::name(x); }                            \
  template <class T, class R = typename of::Integer<T>::real>                           \
  ASSAY_CALL for_double name(T x) { return ::name(static_cast<R>(x)); }
#define ASSAY_TWO(name)                                                                 \
  ASSAY_CALL float name(float x, float y) { return ::name(x, y); }                      \
  ASSAY_CALL double name(double x, double y) { return ::name(x, y); }                   \
  template <class T, class U, class R = typename of::Real<T>::real,                     \
            class = typename of::Real<U>::real>                                         \
  ASSAY_CALL R name(T x, U y) { return ::name(static_cast<R>(x), static_cast<R>(y)); }
#define ASSAY_SCALED(name, Power)                                                       \
  ASSAY_CALL float name(float x, Power by) { return ::name(x, by); }                    \
  ASSAY_CALL double name(double x, Power by) { return ::name(x, by); }                  \
  template <class T, class R = typename of::Integer<T>::real>                           \
  ASSAY_CALL R name(T x, Power by) { return ::name(static_cast<R>(x), by); }
#define ASSAY_REAL(name) ASSAY_ONE(name, float, double)
ASSAY_REAL(log) ASSAY_REAL(log1p) ASSAY_REAL(log2) ASSAY_REAL(log10) ASSAY_REAL(exp2)
ASSAY_REAL(expm1) ASSAY_REAL(tanh) ASSAY_REAL(sinh) ASSAY_REAL(cosh) ASSAY_REAL(asinh)
ASSAY_REAL(acosh) ASSAY_REAL(atanh) ASSAY_REAL(sin) ASSAY_REAL(cos) ASSAY_REAL(tan)
ASSAY_REAL(asin) ASSAY_REAL(acos) ASSAY_REAL(atan) ASSAY_REAL(floor) ASSAY_REAL(ceil)
ASSAY_REAL(round) ASSAY_REAL(trunc) ASSAY_REAL(rint) ASSAY_REAL(nearbyint) ASSAY_REAL(fabs)
ASSAY_REAL(cbrt) ASSAY_REAL(erf) ASSAY_REAL(erfc) ASSAY_REAL(tgamma) ASSAY_REAL(lgamma)
ASSAY_REAL(logb)
ASSAY_ONE(lround, long, long) ASSAY_ONE(llround, long long, long long)
ASSAY_ONE(lrint, long, long) ASSAY_ONE(llrint, long long, long long) ASSAY_ONE(ilogb, int, int)
ASSAY_ONE(isnan, bool, bool) ASSAY_ONE(isinf, bool, bool) ASSAY_ONE(isfinite, bool, bool)
ASSAY_ONE(signbit, bool, bool)
ASSAY_TWO(pow) ASSAY_TWO(atan2) ASSAY_TWO(fmax) ASSAY_TWO(fmin) ASSAY_TWO(fmod)
ASSAY_TWO(remainder) ASSAY_TWO(fdim) ASSAY_TWO(copysign) ASSAY_TWO(hypot) ASSAY_TWO(nextafter)
ASSAY_SCALED(ldexp, int) ASSAY_SCALED(scalbn, int) ASSAY_SCALED(scalbln, long)
ASSAY_CALL float fma(float x, float y, float z) { return ::fmaf(x, y, z); }
ASSAY_CALL double fma(double x, double y, double z) { return ::fma(x, y, z); }
template <class T, class U, class V, class R = typename of::Real<T>::real,
          class = typename of::Real<U>::real, class = typename of::Real<V>::real>
ASSAY_CALL R fma(T x, U y, V z) {
  return ::fma(static_cast<R>(x), static_cast<R>(y), static_cast<R>(z));
}
ASSAY_CALL float frexp(float x, int* power) { return ::frexpf(x, power); }
ASSAY_CALL double frexp(double x, int* power) { return ::frexp(x, power); }
ASSAY_CALL float modf(float x, float* whole) { return ::modff(x, whole); }
ASSAY_CALL double modf(double x, double* whole) { return ::modf(x, whole); }
template <class T> ASSAY_CALL void swap(T& a, T& b) {
  T kept = static_cast<T&&>(a);
  a = static_cast<T&&>(b);
  b = static_cast<T&&>(kept);
}
template <class T, decltype(sizeof(0)) N> ASSAY_CALL void swap(T (&a)[N], T (&b)[N]) {
  for (decltype(N) i = 0; i < N; ++i) swap(a[i], b[i]);
}
template <class T, class U = T> ASSAY_CALL T exchange(T& kept, U&& value) {
  T old = static_cast<T&&>(kept);
  kept = static_cast<U&&>(value);
  return old;
}
#undef ASSAY_REAL
#undef ASSAY_SCALED
#undef ASSAY_TWO
#undef ASSAY_ONE
#undef ASSAY_CALL
}}  // namespace assay::std
)cuda";

}  // namespace assay::runner
