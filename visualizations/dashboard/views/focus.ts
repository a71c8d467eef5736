import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** Puts the focus on the heading of a page that was gone to, so that keyboard and screen reader go on from there. */
export function useFocusOnArrival(): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    scrollTo(0, 0)
    heading.current?.focus()
  }, [])
  return heading
}
