//! JavaScript functions as hooks.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use hookbox_embed::{Answer, Error, HostHook};
use tokio::sync::oneshot;

use crate::post::{Kind, Post};

/// Questions without an answer from JavaScript.
#[derive(Clone)]
pub(crate) struct Questions {
    post: Post,
    open: Arc<Open>,
}

#[derive(Default)]
struct Open {
    next: AtomicU32,
    answers: Mutex<HashMap<u32, oneshot::Sender<Answer>>>,
}

impl Open {
    fn take(&self, question: u32) -> Option<oneshot::Sender<Answer>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).remove(&question)
    }
}

impl Questions {
    pub(crate) fn new(post: Post) -> Self {
        Self { post, open: Arc::default() }
    }

    /// Answers a question. Only the first answer before the hook's deadline counts.
    pub(crate) fn answer(&self, question: u32, answer: Answer) {
        let _ = self.open.take(question).map(|waiting| waiting.send(answer));
    }

    /// Makes a hook that calls the function with this number.
    pub(crate) fn hook(&self, entry: &str, function: u32) -> Result<HostHook, Error> {
        let used = Arc::new(Function { number: function, post: self.post.clone() });
        let questions = self.clone();
        HostHook::new(entry, move |event| {
            let (sender, answer) = oneshot::channel();
            let number = questions.open.next.fetch_add(1, Ordering::Relaxed);
            questions.open.answers.lock().unwrap_or_else(PoisonError::into_inner).insert(number, sender);
            let waiting = Question { number, questions: questions.clone() };
            questions.post.send(number, Kind::Ask, used.number, event);
            async move {
                let answer = answer.await;
                drop(waiting);
                answer.unwrap_or_else(|_| Err("it ended without a result".to_owned()))
            }
        })
    }
}

/// A function that hooks ask. JavaScript drops it with the last of them.
struct Function {
    number: u32,
    post: Post,
}

impl Drop for Function {
    fn drop(&mut self) {
        self.post.send(0, Kind::Release, self.number, String::new());
    }
}

/// A question. Dropping it without an answer reports to JavaScript that no answer is needed.
struct Question {
    number: u32,
    questions: Questions,
}

impl Drop for Question {
    fn drop(&mut self) {
        if self.questions.open.take(self.number).is_some() {
            self.questions.post.send(self.number, Kind::Cancel, 0, String::new());
        }
    }
}
