import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Panel } from '../panel.ts'

export const PanelContext = createContext<Panel | undefined>(undefined)

export function usePanel(): Panel {
  const panel = useContext(PanelContext)
  if (panel === undefined) throw new Error('There is no panel around this part of the page.')
  return panel
}
