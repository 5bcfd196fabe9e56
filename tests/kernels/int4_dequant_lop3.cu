// Int4 weights, AWQ order, lop3 trick to half2.
/* contract
{"args": ["in q uint32[256]", "out y float16[2048]"], "launch": {"grid": 1, "block": 256}}
*/
// wrong constant wrong_output: = i >> 8 -> =i>>4
// wrong wrong_order wrong_output: (h[0], h[1], h[2], h[3]) -> (h[0],h[2],h[1],h[3])
#include <cuda_fp16.h>
__global__ void k(const unsigned* q, __half* y) {
  unsigned i = q[threadIdx.x];
  unsigned h[4];
  const unsigned immLut = (0xf0 & 0xcc) | 0xaa;
  unsigned top = i >> 8;
  asm volatile("lop3.b32 %0, %1, %2, %3, %4;\n"
               : "=r"(h[0])
               : "r"(i), "n"(0x000f000f), "n"(0x64006400), "n"(immLut));
  asm volatile("lop3.b32 %0, %1, %2, %3, %4;\n"
               : "=r"(h[1])
               : "r"(i), "n"(0x00f000f0), "n"(0x64006400), "n"(immLut));
  asm volatile("lop3.b32 %0, %1, %2, %3, %4;\n"
               : "=r"(h[2])
               : "r"(top), "n"(0x000f000f), "n"(0x64006400), "n"(immLut));
  asm volatile("lop3.b32 %0, %1, %2, %3, %4;\n"
               : "=r"(h[3])
               : "r"(top), "n"(0x00f000f0), "n"(0x64006400), "n"(immLut));
  asm volatile("sub.f16x2 %0, %1, %2;\n" : "=r"(h[0]) : "r"(h[0]), "r"(0x64006400));
  asm volatile("fma.rn.f16x2 %0, %1, %2, %3;\n"
               : "=r"(h[1])
               : "r"(h[1]), "r"(0x2c002c00), "r"(0xd400d400));
  asm volatile("sub.f16x2 %0, %1, %2;\n" : "=r"(h[2]) : "r"(h[2]), "r"(0x64006400));
  asm volatile("fma.rn.f16x2 %0, %1, %2, %3;\n"
               : "=r"(h[3])
               : "r"(h[3]), "r"(0x2c002c00), "r"(0xd400d400));
  reinterpret_cast<uint4*>(y)[threadIdx.x] = make_uint4(h[0], h[1], h[2], h[3]);
}
// reference
#include <cuda_fp16.h>
__global__ void reference(const unsigned* q, __half* y) {
  for (int t = 0; t < 256; ++t)
    for (int j = 0; j < 4; ++j) {
      int s = j * 4;
      y[t * 8 + j * 2] = __float2half((float)((q[t] >> s) & 15));
      y[t * 8 + j * 2 + 1] = __float2half((float)((q[t] >> (s + 16)) & 15));
    }
}
