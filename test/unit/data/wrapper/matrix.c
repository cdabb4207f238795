enum { N = 48 };

void multiply(float c[N][N], float a[N][N], float b[N][N]) {
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++)
        c[i][j] += a[i][k] * b[k][j];
}

void transpose(float out[N][N], float in[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      out[j][i] = in[i][j];
}
