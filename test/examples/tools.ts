import { createBreakerRegistry, toolDefaults } from 'switchgear'

const tools = createBreakerRegistry(toolDefaults)
const search = async (query: string) => [`a record about ${query}`]

async function callTool(query: string): Promise<string> {
  const breaker = tools.get('crm.search')
  // the model is told, and can try another way
  if (!breaker.canExecute())
    return JSON.stringify({ error: 'tool_unavailable', detail: breaker.explain().sentence })
  return JSON.stringify(await breaker.execute(() => search(query)))
}
console.log(await callTool('Acme'))
