// Package machines contains the end-to-end tests of the life cycle of one instance on a machine, and of several
// instances: start, reload and restart under systemd (sd_notify(3), systemd.socket(5)), resource limits, and
// instances that share caches, a registry or a load balancer. Signals, configurations and requests enter;
// responses, logs and notifications are checked.
package machines
