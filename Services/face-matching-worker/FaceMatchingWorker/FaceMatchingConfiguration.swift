internal import EventBus
internal import FaceEngine
internal import Foundation
internal import Imaging
internal import ServiceDefaults

/// The settings of face-matching-worker.
struct FaceMatchingConfiguration: Sendable {
    let modelsPath: String
    let sandbox: SandboxMode
    let threshold: Float
    let replayCheck: ReplayCheck
    let duplicates: DuplicatePolicy
    /// The number of engines.
    let threads: Int
    let consumer: EventConsumerConfiguration

    init(_ settings: Settings) throws(ConfigurationError) {
        modelsPath = try settings.faceModelsPath()
        sandbox = try settings.imageSandbox(deployed: SandboxMode.required, local: .available)
        threshold = try settings.faceThreshold(default: FaceThresholds.standard, in: FaceThresholds.configurable)
        replayCheck = try settings.choice(
            "FACE_REPLAY_CHECK", default: ReplayCheck.photos,
            about: "what may not be sent twice: a photo, also a changed copy of it, or only the same file (for load tests)")
        duplicates = try settings.choice(
            "FACE_DUPLICATES", default: DuplicatePolicy.review,
            about: """
                what happens when the face of a sign-up is that of another account, as it seems: nothing is searched; an operator \
                gets both on a list (`heliographctl faces duplicates list`); or the sign-up fails with `face_in_use`, once its e-mail \
                is proven. A search keeps 150 bytes of each account in memory
                """)
        let cores = min(64, ProcessInfo.processInfo.activeProcessorCount)
        threads =
            try settings.int(
                "FACE_ENGINE_THREADS", in: 1...64, otherwise: "the machine's cores; 2 in compose, 1 on Kubernetes",
                about: "photos that are analysed at the same time") ?? cores
        var consumer = EventConsumerConfiguration()
        consumer.concurrency =
            try settings.int(
                "CONSUMER_CONCURRENCY", in: 1...64, otherwise: "`FACE_ENGINE_THREADS`",
                about: "sessions of a lane that are handled at the same time") ?? threads
        self.consumer = consumer
    }
}
