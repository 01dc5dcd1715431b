import Foundation
import TestSupport

/// What happens to Redis.
extension FaultRow {
    static let redisKilled = FaultRow("F5", "Redis killed and started again, AOF everysec") { rig, scale in
        try await rig.startFlow(scale)
        for _ in 0..<scale.rounds {
            rig.mark()
            await rig.redis.kill()
            try await rig.redis.restart()
            try await rig.flow(scale.calm)
        }
    }
}
