/**
 * Journeys and their steps. Owns `journeys` and `journey_steps`. A journey is a graph of steps that a person walks through,
 * beginning at an entrance. Promises: what is stored is a graph that can be walked; its steps change all together or not at all.
 */
export { journeyRoutes } from './routes.ts'
