/** The networks that the gateway is paid on, asked for once. */
import { useEffect, useState } from 'preact/hooks';
import type { ShownNetwork } from '../../wallets/shown-network.ts';

let asked: Promise<readonly ShownNetwork[]> | undefined;

async function ask(): Promise<readonly ShownNetwork[]> {
  const response = await fetch('/storefront/networks');
  if (!response.ok) throw new Error(`status ${response.status}`);
  return ((await response.json()) as { networks: ShownNetwork[] }).networks;
}

/** Undefined until they are known. */
export function useNetworks(): readonly ShownNetwork[] | undefined {
  const [networks, setNetworks] = useState<readonly ShownNetwork[]>();
  useEffect(() => {
    asked ??= ask();
    asked.then(setNetworks, () => {
      asked = undefined;
    });
  }, []);
  return networks;
}
