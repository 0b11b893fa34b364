/** The console in a real browser, over a gateway. */
import type { BrowserContextOptions } from 'playwright-core';
import type { Test } from 'tap';
import { type OpenPage, openPage } from '../browser.ts';
import { type SampleGateway, startSampleGateway } from './sample-gateway.ts';

export interface OpenConsole extends OpenPage {
  readonly gateway: SampleGateway;
}

/** A gateway, and a page that shows its console: signed in, unless `isSignedIn` is false. */
export async function openConsole(
  t: Test,
  { isSignedIn = true, ...options }: BrowserContextOptions & { isSignedIn?: boolean } = {},
): Promise<OpenConsole> {
  const gateway = await startSampleGateway();
  t.teardown(() => gateway.stop());
  const { page, complaints } = await openPage(t, options);
  await page.goto(`${gateway.url}/console${isSignedIn ? `#token=${gateway.token}` : ''}`);
  await page.getByRole('heading', { name: isSignedIn ? 'Overview' : 'Console', level: 1 }).waitFor();
  if (isSignedIn) await page.locator('.loaded').waitFor();
  return { page, gateway, complaints };
}
