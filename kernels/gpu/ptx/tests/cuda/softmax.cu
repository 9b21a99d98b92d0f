// Rows normalised with a tree in dynamic shared memory.

extern "C" __global__ void softmax(const float *__restrict__ x, float *__restrict__ y, int cols) {
    extern __shared__ float sm[];
    int row = blockIdx.x, t = threadIdx.x;
    const float *xr = x + (size_t)row * cols;
    float *yr = y + (size_t)row * cols;
    float m = __int_as_float(0xff800000);
    for (int c = t; c < cols; c += blockDim.x)
        m = fmaxf(m, xr[c]);
    sm[t] = m;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s)
            sm[t] = fmaxf(sm[t], sm[t + s]);
        __syncthreads();
    }
    m = sm[0];
    __syncthreads();
    float a = 0.f;
    for (int c = t; c < cols; c += blockDim.x) {
        float e = __expf(xr[c] - m);
        yr[c] = e;
        a += e;
    }
    sm[t] = a;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s)
            sm[t] += sm[t + s];
        __syncthreads();
    }
    a = sm[0];
    for (int c = t; c < cols; c += blockDim.x)
        yr[c] /= a;
}
