/** The catalogue that is on sale, and those before it for as long as what they offered is good. */
import { isOnSale } from '../catalogue/on-sale.ts';
import { refundsOf } from '../catalogue/settings/refunds.ts';
import type { Catalogue } from '../catalogue/types.ts';
import { HONOURED_MS } from '../rails/until-replaced.ts';
import { tellUnsold, unsoldOf } from '../start/unsold.ts';
import { inTurn } from '../timing.ts';
import { type Edition, openEdition, type Shared } from './edition.ts';

/** Why another catalogue cannot be sold without a restart. */
export class ReloadRefused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'ReloadRefused';
  }
}

export interface Editions {
  current(): Edition;
  /** Throws ReloadRefused; what is sold then stays as it is. */
  replace(catalogue: Catalogue): Promise<void>;
  /** Takes out of sale what retires, and closes editions whose offers are over and that have nothing under way. */
  turn(): Promise<void>;
  renew(): Promise<unknown>;
  idle(): Promise<unknown>;
  stop(): void;
  close(): Promise<void>;
}

/** What payments that are under way, and the books, were opened with. */
const openedWith = ({ networks, service }: Catalogue): string =>
  JSON.stringify([
    [...networks.values()],
    service.exposure,
    service.limits,
    service.rails,
    service.receipts,
    refundsOf(service).endpoint,
  ]);

export async function openEditions(first: Catalogue, shared: Shared): Promise<Editions> {
  const { platform, log, now } = shared;
  let earlier: { readonly edition: Edition; readonly until: number }[] = [];
  const renewAll = (): Promise<unknown> => Promise.all(all().map(({ renew }) => renew()));
  const open = (catalogue: Catalogue) =>
    openEdition(catalogue, { ...shared, renewAll }, () => earlier.map(({ edition }) => edition));
  let current = await open(first);
  /** Take nothing more, and have work under way. */
  const leaving = new Set<Edition>();
  const all = () => [current, ...earlier.map(({ edition }) => edition), ...leaving];

  const sell = inTurn(async (catalogueOf: () => Catalogue) => {
    const next = await open(catalogueOf());
    current.replaced();
    earlier = [{ edition: current, until: now() + HONOURED_MS }, ...earlier];
    current = next;
  });

  /** Its leases are prolonged until its last work is done. */
  async function leave(edition: Edition): Promise<void> {
    leaving.add(edition);
    await edition.idle();
    leaving.delete(edition);
    await edition.close();
  }

  return {
    current: () => current,
    async replace(catalogue) {
      if (openedWith(catalogue) !== openedWith(current.catalogue)) {
        throw new ReloadRefused(
          'networks.yaml, or exposure, limits, rails, receipts or refunds.endpoint in service.yaml, has changed: that takes a restart',
        );
      }
      await platform.prepare?.(catalogue);
      await sell(() => catalogue);
      log.info({ version: catalogue.version, endpoints: current.sold.length }, 'another catalogue is sold now');
      tellUnsold(unsoldOf(current.missing), log);
    },
    async turn() {
      const moment = now();
      const retired = current.sold.filter((route) => !isOnSale(route, moment));
      if (retired.length > 0) {
        log.info({ retired: retired.map(({ id }) => id) }, 'endpoints are not sold any more');
        await sell(() => current.catalogue);
      }
      const over = earlier.filter(({ until }) => until <= moment);
      earlier = earlier.filter(({ until }) => until > moment);
      for (const { edition } of over)
        leave(edition).catch((err: unknown) => log.error({ err }, 'an edition did not close'));
    },
    renew: renewAll,
    idle: () => Promise.all(all().map(({ idle }) => idle())),
    stop: () => {
      for (const { stop } of all()) stop();
    },
    close: async () => {
      await Promise.all(all().map(({ close }) => close()));
    },
  };
}
