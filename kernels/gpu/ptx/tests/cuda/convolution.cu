// Direct convolution and pooling.

extern "C" __global__ void conv2d(const float *x, const float *w, const float *bias, float *y, int N, int C, int H,
                                  int W, int K, int R, int S, int P, int Q, int stride, int pad) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= N * K * P * Q)
        return;
    int q = idx % Q, p = idx / Q % P, k = idx / (Q * P) % K, n = idx / (Q * P * K);
    float a = bias ? bias[k] : 0.f;
    for (int c = 0; c < C; c++)
        for (int r = 0; r < R; r++)
            for (int s = 0; s < S; s++) {
                int h = p * stride - pad + r, ww = q * stride - pad + s;
                if (h >= 0 && h < H && ww >= 0 && ww < W)
                    a += x[((n * C + c) * H + h) * W + ww] * w[((k * C + c) * R + r) * S + s];
            }
    y[idx] = a;
}

extern "C" __global__ void maxpool(const float *x, float *y, unsigned NC, unsigned H, unsigned W, unsigned k,
                                   unsigned st, unsigned P, unsigned Q) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= NC * P * Q)
        return;
    unsigned q = i % Q, p = i / Q % P, nc = i / (P * Q);
    float m = -3.4e38f;
    for (unsigned r = 0; r < k; r++)
        for (unsigned s = 0; s < k; s++) {
            unsigned h = p * st + r, w = q * st + s;
            if (h < H && w < W)
                m = fmaxf(m, x[(nc * H + h) * W + w]);
        }
    y[i] = m;
}
