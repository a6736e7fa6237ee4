// Package machines has the end-to-end tests of the life of an instance on a machine, and of several: start, reload and
// restart under systemd, limits of the machine, and instances that share caches, a registry or a load balancer.
package machines
