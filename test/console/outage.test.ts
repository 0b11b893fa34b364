/** The console while its gateway's database is away. In a real browser, over a real server. */
import t from 'tap';
import { noBrowser, openPage, stopBrowser } from '../browser.ts';
import { startPostgres } from '../postgres.ts';
import { startConsole, TOKEN } from './client.ts';

t.teardown(stopBrowser);

t.test(
  'a console that is opened meanwhile is there once the database is, without the token again',
  {
    skip: noBrowser,
  },
  async (t) => {
    const database = await startPostgres();
    t.teardown(database.stop);
    const { admin, gateway } = await startConsole({ environment: { DATABASE_URL: database.url } });
    t.teardown(gateway.stop);
    const isShown = async (page: Awaited<ReturnType<typeof openPage>>['page']) =>
      page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    const { page: known } = await openPage(t);
    await known.goto(`${admin}/console#token=${TOKEN}`);
    await isShown(known);

    const resume = await database.interrupt();
    const { page: fresh } = await openPage(t);
    await known.reload();
    await fresh.goto(`${admin}/console#token=${TOKEN}`);
    for (const page of [known, fresh]) {
      t.match(await page.getByRole('alert').textContent(), /database cannot be used/);
    }
    await resume();
    for (const page of [known, fresh]) await isShown(page);
  },
);
