/** The networks that the gateway is paid on, asked for once. */
import { useEffect, useState } from 'preact/hooks';
import type { ShownNetwork } from '../../wallets/shown-network.ts';

let asked: Promise<readonly ShownNetwork[]> | undefined;

async function ask(): Promise<readonly ShownNetwork[]> {
  const response = await fetch('/storefront/networks');
  if (!response.ok) throw new Error(`status ${response.status}`);
  return ((await response.json()) as { networks: ShownNetwork[] }).networks;
}

interface Networks {
  /** Undefined until they are known. */
  readonly networks: readonly ShownNetwork[] | undefined;
  /** After they could not be asked for; undefined: no need to. */
  readonly askAgain: (() => void) | undefined;
}

export function useNetworks(): Networks {
  const [networks, setNetworks] = useState<readonly ShownNetwork[]>();
  const [isLost, setLost] = useState(false);
  const look = () => {
    setLost(false);
    asked ??= ask();
    asked.then(setNetworks, () => {
      asked = undefined;
      setLost(true);
    });
  };
  useEffect(look, []);
  return { networks, askAgain: isLost ? look : undefined };
}
