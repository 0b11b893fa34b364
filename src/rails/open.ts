import type { ServiceFile } from '../catalogue/types.ts';
import { ConfigProblem, readVariables, type Variables } from '../environment.ts';
import type { Rail } from '../payment/rail.ts';
import type { RailParts } from './definition.ts';
import { rails } from './index.ts';

interface OpenRailsParts extends Omit<RailParts<unknown>, 'config' | 'options'> {
  readonly service: ServiceFile;
  /** Where the rails read their settings. */
  readonly variables: Variables;
}

/** By name, the rails that can be paid. Throws ConfigProblem. */
export function openRails({ service, variables, ...parts }: OpenRailsParts): ReadonlyMap<string, Rail> {
  const read = readVariables(variables);
  const configured = rails.map((definition) => ({ definition, config: definition.readConfig(read) }));
  if (read.problems.length > 0) throw new ConfigProblem(read.problems);
  const opened = configured.flatMap(({ definition, config }) => {
    const rail = definition.open({ ...parts, config, options: service.rails?.[definition.name] ?? {} });
    return rail ? [[definition.name, rail] as const] : [];
  });
  return new Map(opened);
}
