/** The colours of `service.yaml` over those of the pages' own styles. */
import type { ServiceFile } from '../catalogue/types.ts';

/** CSS; empty where the service names no colours. */
export function brandStyles({ brand }: ServiceFile): string {
  if (!brand) return '';
  const { accent, accentOnDark = accent } = brand;
  return [
    `:root { --accent: ${accent}; }`,
    `@media (prefers-color-scheme: dark) { :root { --accent: ${accentOnDark}; } }`,
    '',
  ].join('\n');
}
