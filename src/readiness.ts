/** Whether this instance may be sent calls now: another question than whether its process lives. */

export interface Readiness {
  readonly ok: boolean;
  /** `status`, and where it is not `ready`, why: part -> reason, in words for everybody. */
  readonly body: { readonly status: 'ready' | 'draining' | 'unavailable'; readonly failing?: Record<string, string> };
}

/** Each part tells its fault. */
export function readinessOf(parts: {
  readonly draining: boolean;
  readonly store: string | undefined;
  readonly payments: string | undefined;
  readonly disk: string | undefined;
}): Readiness {
  const { draining, ...others } = parts;
  const faults = { ...others, draining: draining ? 'the gateway is shutting down' : undefined };
  const failing = Object.fromEntries(
    Object.entries(faults).flatMap(([part, fault]) => (fault === undefined ? [] : [[part, fault] as const])),
  );
  if (Object.keys(failing).length === 0) return { ok: true, body: { status: 'ready' } };
  return { ok: false, body: { status: draining ? 'draining' : 'unavailable', failing } };
}
