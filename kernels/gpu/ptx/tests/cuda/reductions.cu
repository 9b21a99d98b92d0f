// Sums and places of maxima, by shuffles.

extern "C" __global__ void reduce_sum(const float *x, float *out, int n) {
    __shared__ float w[32];
    float a = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        a += x[i];
    for (int o = 16; o; o >>= 1)
        a += __shfl_down_sync(0xffffffffu, a, o);
    int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
    if (!lane)
        w[wid] = a;
    __syncthreads();
    if (!wid) {
        a = lane < (blockDim.x + 31) / 32 ? w[lane] : 0.f;
        for (int o = 16; o; o >>= 1)
            a += __shfl_down_sync(0xffffffffu, a, o);
        if (!lane)
            atomicAdd(out, a);
    }
}

extern "C" __global__ void argmax_rows(const float *x, int *out, int cols) {
    int row = blockIdx.x;
    float b = __int_as_float(0xff800000);
    int bi = 0;
    for (int c = threadIdx.x; c < cols; c += 32) {
        float v = x[(size_t)row * cols + c];
        if (v > b) {
            b = v;
            bi = c;
        }
    }
    for (int o = 16; o; o >>= 1) {
        float ob = __shfl_xor_sync(~0u, b, o);
        int oi = __shfl_xor_sync(~0u, bi, o);
        if (ob > b || (ob == b && oi < bi)) {
            b = ob;
            bi = oi;
        }
    }
    if (threadIdx.x == 0)
        out[row] = bi;
}
