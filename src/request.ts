/** A request as every transport hands it over. */
export interface GatewayRequest {
  /** How it came, and so where its credential stands: each rail reads the transports that it speaks. */
  readonly transport: 'http';
  readonly method: string;
  readonly path: string;
  /** Query string without `?`, empty for none. */
  readonly query: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body's exact bytes. */
  readonly body: Buffer;
}
