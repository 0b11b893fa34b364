/** The console in a real browser, over a gateway. */
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Test } from 'tap';
import { type SampleGateway, startSampleGateway } from './sample-gateway.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);

/** Why tests cannot run here; false where they can. */
export const noBrowser: string | false = CHROMIUM === undefined && 'no browser here: apt-get install chromium';

export interface OpenConsole {
  readonly page: Page;
  readonly gateway: SampleGateway;
  /** What the browser complained of: faults of scripts, and what the content security policy kept from happening. */
  readonly complaints: readonly string[];
}

let browser: Promise<Browser> | undefined;

/** One browser for all tests of a file. */
const startBrowser = (): Promise<Browser> => {
  browser ??= chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  return browser;
};

export const stopBrowser = async (): Promise<void> => (await browser)?.close();

// What has to be refused in a test, or is asked before anybody is signed in, is no fault of the page.
const isRefusal = (text: string): boolean => /^Failed to load resource: .*(40[149]|ERR_)/.test(text);

/** A gateway, and a page that shows its console: signed in, unless `isSignedIn` is false. */
export async function openConsole(
  t: Test,
  { isSignedIn = true, ...options }: BrowserContextOptions & { isSignedIn?: boolean } = {},
): Promise<OpenConsole> {
  const gateway = await startSampleGateway();
  t.teardown(() => gateway.stop());
  const context = await (await startBrowser()).newContext({ reducedMotion: 'reduce', ...options });
  t.teardown(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const complaints: string[] = [];
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (message) => {
    const text = message.text();
    if (['error', 'warning'].includes(message.type()) && !isRefusal(text)) complaints.push(text);
  });
  await page.exposeFunction('complain', (text: string) => complaints.push(text));
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', (event) => complain(event.violatedDirective + ' ' + event.blockedURI))",
  );
  await page.goto(`${gateway.url}/console${isSignedIn ? `#token=${gateway.token}` : ''}`);
  await page.getByRole('heading', { name: isSignedIn ? 'Overview' : 'Console', level: 1 }).waitFor();
  if (isSignedIn) await page.locator('.loaded').waitFor();
  return { page, gateway, complaints };
}
