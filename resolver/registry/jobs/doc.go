// Package jobs runs imports that clients have sent, one after another, in the background.
//
// The body of a job is a file in a directory of this instance, and what is known of the job is a document
// of the registry, so that every instance can tell. An instance runs the jobs whose bodies it has. A file
// is locked while it is written or imported: whoever can lock it knows that nobody works on it, also
// after a crash. So a job that was interrupted goes on, by the next configuration or the next process. Jobs run in
// the order in which they were accepted, over all instances: where a fault stops one, later ones wait. Only those of
// an instance that has not been heard of for minutes are not waited for.
//
//   - job.go: what is known of a job
//   - jobs.go: Jobs, and how jobs are read and cancelled
//   - accept.go: how they come; spool.go: their files
//   - run.go, import.go: how they are done
package jobs
