import * as z from "#zod";

/**
 * `z.object` of a shape that is made at its first use. The schemas of a large shape take a cold start about a
 * millisecond, and most instances of a function never parse most of the stored shapes (decision 0025). A check that is
 * added to it makes the shape. One that a function does not need belongs in another file: esbuild leaves out files only.
 */
export const lazyObject = <Shape extends z.core.$ZodLooseShape>(makeShape: () => Shape): z.ZodMiniObject<Shape> =>
  withShape(z.object<Shape>(), makeShape);

/** The same for what may have no other fields. `z.optional` of a `z.lazy` makes the schema, and of this it does not. */
export const lazyStrictObject = <Shape extends z.core.$ZodLooseShape>(makeShape: () => Shape): z.ZodMiniObject<Shape> =>
  withShape(z.catchall(z.object<Shape>(), never), makeShape);
const never = z.never();

/**
 * The same for what is read, changed and stored as a whole. The fields that it does not know, which a later release has
 * stored beside this one or before a rollback, stay in the value, so that a change does not delete them.
 */
export const replaceableObject = <Shape extends z.core.$ZodLooseShape>(
  makeShape: () => Shape,
): z.ZodMiniObject<Shape> => withShape(z.catchall(z.object<Shape>(), z.unknown()), makeShape);

const withShape = <Schema extends z.ZodMiniObject>(schema: Schema, makeShape: () => object): Schema => {
  Object.defineProperty(schema.def, "shape", {
    get() {
      const shape = makeShape();
      Object.defineProperty(this, "shape", { value: shape });
      return shape;
    },
  });
  return schema;
};
