/** Bare Express: one constant 402, as fast as Express sends one, and the same call without a price for whoever shows a payment. */
import express from 'express';
import { subject } from '../subject.ts';
import { constant, fulfil, isPaid, listening } from './bare.ts';

const application = express();
application.disable('x-powered-by');
application.post(
  subject.path,
  (request, response, next) => {
    if (isPaid(request)) return next();
    response.statusCode = 402;
    for (const [name, value] of Object.entries(constant.headers)) response.setHeader(name, value);
    response.setHeader('content-length', constant.bytes.length);
    response.end(constant.bytes);
  },
  express.json(),
  async (request, response) => {
    const { status, result } = await fulfil(request.body, String(request.headers['payment-signature']));
    response.status(status).json(result);
  },
);
const server = application.listen(0, '127.0.0.1', () => listening(server));
