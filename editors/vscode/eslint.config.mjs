import js from '@eslint/js';

const globals = { __dirname: 'readonly', process: 'readonly', setTimeout: 'readonly' };

export default [
  js.configs.recommended,
  {
    files: ['**/*.js'],
    languageOptions: { sourceType: 'commonjs', globals },
    rules: { 'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }] },
  },
];
