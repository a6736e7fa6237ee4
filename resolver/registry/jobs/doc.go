// Package jobs runs imports and rewrites of targets that clients have uploaded, sequentially in the
// background. The body of an upload enters as CSV (RFC 4180), NDJSON or a rewrite in JSON (RFC 8259), and is
// stored in a directory of the instance that received it; a job document in the registry, visible to all
// instances, and files of rejected lines, conflicts and differences leave.
//
// An instance runs the jobs whose bodies it has. A file is locked while it is written or imported: a process
// that can lock it knows that no other one works on it, even after a crash. So an interrupted job is
// continued by the next configuration or the next process. The queue is common to all instances: tokens take
// turns, and the jobs of one token run in the order in which they were accepted. If an error of the store
// stops a job, later ones wait. Only jobs of an instance that has been silent for minutes are skipped.
//
//   - job.go: the documents of a job
//   - jobs.go: Jobs, and reading and cancelling jobs
//   - queue.go: the order of jobs
//   - accept.go: uploads; spool.go: files
//   - run.go, import.go, rewrite.go: running a job
//   - conflicts.go, differences.go: the files of results
package jobs
