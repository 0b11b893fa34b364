/** The operator's console as a script uses it: with its token, on the admin port. */
import { freePort } from '../free-port.ts';
import { type Gateway, type GatewayOptions, startGateway } from '../gateway.ts';

export const TOKEN = 'a-token-of-the-operator';

export interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
  readonly headers: Headers;
}

export interface Console {
  readonly gateway: Gateway;
  /** Origin of the admin port. */
  readonly admin: string;
  get<Body>(path: string): Promise<Body>;
  ask<Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>>;
}

export async function startConsole(options: GatewayOptions = {}): Promise<Console> {
  const port = await freePort();
  const environment = { TURNPIKE_ADMIN_PORT: String(port), TURNPIKE_ADMIN_TOKEN: TOKEN, ...options.environment };
  const gateway = await startGateway({ networks: ['chain-c'], ...options, environment });
  const admin = `http://127.0.0.1:${port}`;

  async function ask<Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>> {
    const answer = await fetch(`${admin}/console/api/${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Body, headers: answer.headers };
  }

  return {
    gateway,
    admin,
    ask,
    async get<Body>(path: string) {
      const { status, body } = await ask<Body>('GET', path);
      if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
      return body;
    },
  };
}
