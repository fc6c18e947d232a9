//! Work that repeats while the daemon serves: certificates, metric series, the console's history.

use std::{future::pending, sync::Arc, time::Duration};

use tokio::{task::spawn_blocking, time::sleep};

use crate::{app::App, console::Console};

/// The interval of checking the certificate files for changes.
const LOOK: Duration = Duration::from_secs(1);
/// The interval of removing metric series without a tenant or hook.
const UPKEEP: Duration = Duration::from_secs(5);
/// The interval of sampling the queues.
const SAMPLE: Duration = Duration::from_secs(1);
/// The number of samples after which the console's history is saved.
const SAVE: u64 = 60;
/// Repeats the work. Never ends.
pub(super) async fn run(app: &Arc<App>) {
    tokio::join!(follow_certificate(app), forget_removed(app), sample(app));
}

async fn follow_certificate(app: &App) {
    while let Some(tls) = &app.tls {
        sleep(LOOK).await;
        let tls = Arc::clone(tls);
        // Reads the files on a thread that may block.
        let _ = spawn_blocking(move || tls.look()).await;
    }
    pending::<()>().await;
}

async fn forget_removed(app: &App) {
    loop {
        sleep(UPKEEP).await;
        app.forget_series();
        app.console.iter().for_each(|console| console.tidy(&app.tenants));
    }
}

async fn sample(app: &Arc<App>) {
    for second in 1_u64.. {
        sleep(SAMPLE).await;
        app.console.iter().for_each(|console| console.sample(&app.gate));
        if second % SAVE == 0 {
            save(app).await;
        }
    }
}

/// Saves the console's history to its file.
pub(super) async fn save(app: &Arc<App>) {
    let app = Arc::clone(app);
    // On a thread that may block, so that a slow disk does not delay events.
    let _ = spawn_blocking(move || app.console.iter().for_each(Console::save)).await;
}
