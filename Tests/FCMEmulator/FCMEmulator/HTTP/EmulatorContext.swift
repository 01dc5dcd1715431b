import Hummingbird
import NIOCore

/// What a request knows besides itself: the channel it came by, so that faults can break it.
struct EmulatorContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }

    /// The connection the request came by: under HTTP/2 the channel of a request is only a stream of it.
    ///
    /// Every chain of parents ends at the listening socket, whose child is the connection.
    var connection: any Channel {
        var channel = channel
        while let parent = channel.parent, parent.parent != nil { channel = parent }
        return channel
    }
}
