import type { ReportDocument } from './document.ts'
import { toHtmlReport } from './html.ts'
import { toMarkdownReport } from './markdown.ts'

export type ReportFormat = 'html' | 'markdown'

export const renderReport = (document: ReportDocument, format: ReportFormat): string =>
  format === 'html' ? toHtmlReport(document) : toMarkdownReport(document)

export const formatOf = (report: string): ReportFormat =>
  report.startsWith('<!doctype html>') ? 'html' : 'markdown'
