// Numbers of 16 bits.

#include <cuda_fp16.h>
#include <cuda_bf16.h>

extern "C" __global__ void hadd_relu(const __half *a, const __half *b, __half *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __hmax(__hadd(a[i], b[i]), __float2half(0.f));
}

extern "C" __global__ void hsilu(const __half *a, __half *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = __half2float(a[i]);
        y[i] = __float2half(v / (1.f + __expf(-v)));
    }
}

extern "C" __global__ void hfma2(const __half2 *a, const __half2 *b, __half2 *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __hfma2(a[i], b[i], y[i]);
}

extern "C" __global__ void bfmul(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __float2bfloat16(__bfloat162float(a[i]) * __bfloat162float(b[i]));
}

extern "C" __global__ void bfma(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __hfma(a[i], b[i], y[i]);
}
