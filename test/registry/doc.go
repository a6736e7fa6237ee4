// Package registry contains the end-to-end tests of the registry: its answers, commands, API and pages, its
// stores in SQLite and PostgreSQL, and its notifications of downstream caches. Commands and requests enter;
// responses, the content of stores and backups, and the behavior after crashes are checked.
package registry
