// A product of matrices by tiles in shared memory.

#define TS 16

extern "C" __global__ void matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C,
                                  int M, int N, int K) {
    __shared__ float As[TS][TS], Bs[TS][TS];
    int tx = threadIdx.x, ty = threadIdx.y;
    int r = blockIdx.y * TS + ty, c = blockIdx.x * TS + tx;
    float acc = 0.f;
    for (int k0 = 0; k0 < K; k0 += TS) {
        As[ty][tx] = (r < M && k0 + tx < K) ? A[r * K + k0 + tx] : 0.f;
        Bs[ty][tx] = (k0 + ty < K && c < N) ? B[(k0 + ty) * N + c] : 0.f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TS; k++)
            acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (r < M && c < N)
        C[r * N + c] = acc;
}
