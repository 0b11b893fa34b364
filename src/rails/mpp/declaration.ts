import { evmNetworkName, tagName } from '../../catalogue/files/common.ts';
import type { RailDeclaration } from '../../catalogue/rails.ts';
import type { NetworkId, OperationOptions } from '../../catalogue/types.ts';

/** The block `mpp:` of an endpoint's file. */
export interface MppOperation extends OperationOptions {
  readonly operationId: string;
  /** A tag of `service.yaml`. */
  readonly tag: string;
}

/** The block `mpp:` of `service.yaml`. */
export interface MppServiceOptions {
  /** Where charges are paid by EIP-3009, in the order of preference: the first that can be paid is offered. */
  readonly networks?: readonly NetworkId[];
}

export const mppDeclaration: RailDeclaration = {
  name: 'mpp',
  title: 'MPP',
  serviceOptions: {
    type: 'object',
    properties: {
      networks: {
        type: 'array',
        items: evmNetworkName,
        minItems: 1,
        uniqueItems: true,
        description: 'Where charges are paid by EIP-3009: the first of these that can be paid is offered',
      },
    },
  },
  operation: {
    key: 'mpp',
    pathPrefix: '/mpp',
    methods: ['GET', 'POST'],
    options: {
      type: 'object',
      required: ['operationId', 'tag'],
      properties: {
        operationId: {
          type: 'string',
          pattern: '^[A-Za-z][A-Za-z0-9_]*$',
          description: 'What OpenAPI and clients call the operation; no other endpoint has it',
          'x-expected': 'an operation id has letters, digits and "_"',
          'x-unique': true,
        },
        tag: { ...tagName, description: 'The tag of service.yaml that it is listed under' },
      },
    },
  },
};
