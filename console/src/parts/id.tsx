import { visiblePieces } from './invisible.ts'

/** An id as it is: nothing in it stays unseen, and nothing in it turns what is around it. */
export function Id({ text }: { text: string }) {
  return (
    <bdi class="id">
      {visiblePieces(text).map((piece, i) =>
        piece.isInvisible ? (
          <span key={i} class="unseen">
            {piece.text}
          </span>
        ) : (
          <bdi key={i}>{piece.text}</bdi>
        ),
      )}
    </bdi>
  )
}
