#include <memory>
#include <string>
#include <map>
class Runner {
 public:
  explicit Runner(int n) : n_(n) {}
  void run();
 private:
  int n_;
  std::map<std::string, float> results_;
};
__global__ void fill(float* p, float value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = value;
}
void Runner::run() { fill<<<1, 256>>>(nullptr, 1.0f, n_); }
std::unique_ptr<Runner> make_runner() { return std::make_unique<Runner>(256); }
