import type { ComponentChildren } from 'preact';
import { Shape } from './shape.tsx';

/** Something that has to be read: what happened, and what to do. */
export function Notice({ tone, children }: { tone: 'good' | 'warn' | 'bad'; children: ComponentChildren }) {
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      <Shape name={tone === 'good' ? 'check' : 'warning'} />
      <div>{children}</div>
    </div>
  );
}
