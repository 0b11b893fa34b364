import { tagName } from '../../catalogue/files/common.ts';
import type { RailDeclaration } from '../../catalogue/rails.ts';
import type { OperationOptions } from '../../catalogue/types.ts';

/** The block `mpp:` of an endpoint's file. */
export interface MppOperation extends OperationOptions {
  readonly operationId: string;
  /** A tag of `service.yaml`. */
  readonly tag: string;
}

export const mppDeclaration: RailDeclaration = {
  name: 'mpp',
  title: 'MPP',
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
          description: 'an operation id has letters, digits and "_"',
          'x-unique': true,
        },
        tag: tagName,
      },
    },
  },
};
