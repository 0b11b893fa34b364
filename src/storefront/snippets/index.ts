/** Every way to call an endpoint that can be shown for it. */
import { holdsSecret } from '../../catalogue/endpoints/secret.ts';
import { exampleCall } from '../../discovery/example-call.ts';
import { payableOn } from '../../discovery/payable.ts';
import type { Offer } from '../offers.ts';
import type { PageParts } from '../pages/parts.ts';
import { curl } from './curl.ts';
import { mcp } from './mcp.ts';
import { mppx } from './mppx.ts';
import type { Snippet } from './snippet.ts';
import { fromDeposit, python, typescript } from './x402.ts';

/** Whether the example can be drawn from a deposit, on networks that have its contract. */
const isDrawn = ({ endpoint, example }: Offer['base'], { service }: PageParts): boolean =>
  service.exposure?.channels === true && !holdsSecret(endpoint, example);

/** Of an endpoint at one of its routes. */
export function snippetsOf(route: Offer['base'], offer: Offer, parts: PageParts): Snippet[] {
  const call = exampleCall(route, parts.publicUrl);
  const networks = payableOn(route, parts);
  const evm = networks.find(({ network: { family } }) => family === 'evm');
  const network = evm ?? networks[0];
  const overMpp = [route, ...offer.operations].find(({ rail }) => rail === 'mpp');
  const tool = parts.toolOf(route);
  return [
    curl(call),
    ...(network ? [typescript(call, network)] : []),
    ...(evm && isDrawn(route, parts) ? [fromDeposit(call, evm)] : []),
    ...(evm ? [python(call)] : []),
    ...(overMpp ? [mppx(exampleCall({ ...overMpp, methods: ['POST'] }, parts.publicUrl))] : []),
    ...(tool === undefined ? [] : [mcp(parts, offer.endpoint.group, tool)]),
  ];
}
