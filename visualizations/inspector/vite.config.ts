import { defineConfig, mergeConfig } from 'vite'
import dashboard from '../dashboard/vite.config.ts'

export default mergeConfig(dashboard, defineConfig({}))
