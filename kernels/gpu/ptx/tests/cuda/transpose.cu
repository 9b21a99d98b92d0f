// A transposition through shared memory, in two dimensions of threads.

extern "C" __global__ void transpose(const float *in, float *out, int R, int C) {
    __shared__ float t[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < C && y + j < R)
            t[threadIdx.y + j][threadIdx.x] = in[(y + j) * C + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < R && y + j < C)
            out[(y + j) * R + x] = t[threadIdx.x][threadIdx.y + j];
}
