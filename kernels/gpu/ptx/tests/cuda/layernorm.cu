// Rows normalised with butterflies in warps.

extern "C" __global__ void layernorm(const float *x, const float *g, const float *b, float *y, int cols, float eps) {
    __shared__ float s1[32], s2[32];
    int row = blockIdx.x;
    const float *xr = x + (size_t)row * cols;
    float a = 0, q = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float v = xr[c];
        a += v;
        q += v * v;
    }
#pragma unroll
    for (int o = 16; o; o >>= 1) {
        a += __shfl_xor_sync(~0u, a, o);
        q += __shfl_xor_sync(~0u, q, o);
    }
    int l = threadIdx.x & 31, w = threadIdx.x >> 5;
    if (!l) {
        s1[w] = a;
        s2[w] = q;
    }
    __syncthreads();
    a = l < (blockDim.x >> 5) ? s1[l] : 0;
    q = l < (blockDim.x >> 5) ? s2[l] : 0;
#pragma unroll
    for (int o = 16; o; o >>= 1) {
        a += __shfl_xor_sync(~0u, a, o);
        q += __shfl_xor_sync(~0u, q, o);
    }
    float mu = a / cols, rs = rsqrtf(q / cols - mu * mu + eps);
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        y[(size_t)row * cols + c] = (xr[c] - mu) * rs * g[c] + b[c];
}
