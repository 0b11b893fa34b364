/** A request as every transport hands it over. */
export interface GatewayRequest {
  /** How it came, and so where its credential stands: each rail reads the transports that it speaks. */
  readonly transport: 'http' | 'mcp';
  readonly method: string;
  readonly path: string;
  /** Query string without `?`, empty for none. */
  readonly query: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body's exact bytes; of a tool call, its arguments as JSON in canonical form: payers may order them anew. */
  readonly body: Buffer;
  /** Only the price is asked: nothing is worked for, not even where that is free. */
  readonly isQuote?: boolean | undefined;
  /** The tool call that it came as, over `mcp`. */
  readonly tool?: ToolCall | undefined;
}

/** What a tool call says beside its arguments. */
export interface ToolCall {
  readonly name: string;
  /** `_meta` of its parameters, as a stranger sent it. */
  readonly meta: Readonly<Record<string, unknown>>;
}
