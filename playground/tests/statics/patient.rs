use retry_core::PatientRetryStrategy;

static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
