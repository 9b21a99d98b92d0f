// Scans, random numbers, votes, global and constant variables, local arrays, recursion, traps and texts.

extern "C" __global__ void scan(const float *x, float *y, int n) {
    extern __shared__ float s[];
    int t = threadIdx.x;
    s[t] = t < n ? x[t] : 0;
    __syncthreads();
    for (int o = 1; o < blockDim.x; o <<= 1) {
        float v = t >= o ? s[t - o] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    if (t < n)
        y[t] = s[t];
}

__device__ __forceinline__ uint4 rnd(uint4 c, uint2 k) {
    for (int i = 0; i < 10; i++) {
        unsigned h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x, h1 = __umulhi(0xCD9E8D57u, c.z),
                 l1 = 0xCD9E8D57u * c.z;
        c = make_uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
        k.x += 0x9E3779B9u;
        k.y += 0xBB67AE85u;
    }
    return c;
}

extern "C" __global__ void philox(float *y, int n, unsigned s0, unsigned s1) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uint4 c = rnd(make_uint4(i, 0, 0, 0), make_uint2(s0, s1));
        float u1 = (c.x + 1.0f) * 2.3283064e-10f, u2 = c.y * 2.3283064e-10f;
        y[i] = sqrtf(-2.f * logf(u1)) * cosf(6.2831853f * u2);
    }
}

extern "C" __global__ void vote(const int *x, unsigned *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? x[i] : 0;
    unsigned b = __ballot_sync(~0u, v > 0);
    int any = __any_sync(~0u, v < 0), all = __all_sync(~0u, v >= 0);
    unsigned m = __activemask();
    unsigned mm = __match_any_sync(~0u, v);
    int r = __reduce_add_sync(~0u, v);
    if (i < n)
        y[i] = b + any * 2 + all + __popc(m) + __popc(mm) + r;
    __syncwarp();
    int c = __syncthreads_count(v > 0);
    if (threadIdx.x == 0)
        y[n + blockIdx.x] = c;
}

__constant__ float tab[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
__device__ int counter = 0;
__device__ float g_w[4];

extern "C" __global__ void globals(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = tab[i & 15] + g_w[i & 3];
        atomicAdd(&counter, 1);
    }
}

extern "C" __global__ void localarr(const float *x, float *y, int n, int k) {
    float st[32];
    int i = threadIdx.x;
    for (int j = 0; j < 32; j++)
        st[(j * k) & 31] = x[(i + j) % n];
    float a = 0;
    for (int j = 0; j < 32; j++)
        a = a * 0.5f + st[(j * 7 + k) & 31];
    y[i] = a;
}

__device__ __noinline__ float rec(float v, int d) {
    if (d <= 0)
        return v;
    return rec(v * 0.5f, d - 1) + rec(v * 0.25f, d - 2);
}

extern "C" __global__ void calls(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = rec((float)i, i & 7);
}

extern "C" __global__ void asserts(const int *x, int n, int *e) {
    int i = threadIdx.x;
    if (i < n && x[i] < 0) {
        *e = i;
        __trap();
    }
}

extern "C" __global__ void prnt(int n) {
    printf("hello %d of %d\n", threadIdx.x, n);
}
