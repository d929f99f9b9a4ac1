//! How runs choose: clients that start one after another, clients mixed by a random delay before each transaction, and
//! the strategies that use earlier runs.

use skew_model::SessionId;
use skew_store::choice::Point;
use skew_store::strategies::{Bias, Dice};
use skew_store::{Campaign, Choice, Run, Strategy};

/// Of this many turns, one goes to another client before the current one has ended.
const STAY: usize = 10;

/// How clients start.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Starts {
    /// One after another, as threads do: whoever is on stays on, most of the time.
    Plain,
    /// With a random delay before each transaction: every turn is open.
    Delayed,
    /// The same, and what was done least often comes first.
    Learning,
    /// The same, and runs are steered to what earlier ones predict.
    Predictive,
}

impl Starts {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Starts::Plain => "plain",
            Starts::Delayed => "delay",
            Starts::Learning => "learning",
            Starts::Predictive => "predictive",
        }
    }
}

/// The choices of one run after another.
pub(crate) enum Choices {
    Plain { made: u64 },
    Campaign(Box<Campaign>),
}

impl Choices {
    pub(crate) fn new(starts: Starts) -> Choices {
        let campaign = |strategy| Choices::Campaign(Box::new(Campaign::new(strategy, 0)));
        match starts {
            Starts::Plain => Choices::Plain { made: 0 },
            Starts::Delayed => campaign(Strategy::Random(Bias::Uniform)),
            Starts::Learning => campaign(Strategy::Learning),
            Starts::Predictive => campaign(Strategy::Predictive),
        }
    }

    /// How the next run chooses.
    pub(crate) fn next(&mut self) -> Box<dyn Choice + Send> {
        match self {
            Choices::Plain { made } => {
                *made += 1;
                Box::new(Plain { dice: Dice::new(Dice::seed_of_run(0, *made)), current: None })
            }
            Choices::Campaign(campaign) => campaign.choice(),
        }
    }

    /// The run has been made.
    pub(crate) fn learn(&mut self, run: &Run) {
        if let Choices::Campaign(campaign) = self {
            campaign.learn(run);
        }
    }
}

struct Plain {
    dice: Dice,
    current: Option<SessionId>,
}

impl Choice for Plain {
    fn pick(&mut self, point: Point<'_>) -> usize {
        let sessions = match point {
            Point::Turn(sessions) => sessions,
            Point::Source(read) => return self.dice.below(read.count),
        };
        let current = self.current.and_then(|current| sessions.iter().position(|&session| session == current));
        let stays = self.dice.below(STAY) > 0;
        let picked = if stays { current.unwrap_or(0) } else { self.dice.below(sessions.len()) };
        self.current = Some(sessions[picked]);
        picked
    }
}
